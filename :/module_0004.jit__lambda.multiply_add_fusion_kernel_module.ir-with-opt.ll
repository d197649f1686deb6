; ModuleID = '__compute_module_multiply_add_fusion_kernel_module'
source_filename = "__compute_module_multiply_add_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: uwtable
define noalias noundef ptr @multiply_add_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !8
  %4 = load ptr, ptr %3, align 8, !invariant.load !8, !dereferenceable !9
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !8, !dereferenceable !9
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !8, !dereferenceable !9
  %9 = getelementptr inbounds nuw i8, ptr %3, i64 48
  %10 = load ptr, ptr %9, align 8, !invariant.load !8, !dereferenceable !9
  tail call void @llvm.experimental.noalias.scope.decl(metadata !10)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !13)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !15)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !17)
  br label %vector.ph

vector.ph:                                        ; preds = %1, %vector.ph
  %11 = phi i64 [ 0, %1 ], [ %112, %vector.ph ]
  %12 = shl nuw nsw i64 %11, 3
  %13 = getelementptr inbounds nuw [4 x i8], ptr %6, i64 %12
  %wide.load = load <8 x i32>, ptr %13, align 4, !invariant.load !8, !alias.scope !13, !noalias !19
  %14 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %12
  %wide.load3 = load <8 x i32>, ptr %14, align 4, !invariant.load !8, !alias.scope !15, !noalias !20
  %15 = xor <8 x i32> %wide.load3, %wide.load
  %16 = lshr <8 x i32> %15, splat (i32 9)
  %17 = or disjoint <8 x i32> %16, splat (i32 1065353216)
  %18 = bitcast <8 x i32> %17 to <8 x float>
  %19 = fadd nnan <8 x float> %18, splat (float -1.000000e+00)
  %20 = fmul nnan <8 x float> %19, splat (float 2.000000e+00)
  %21 = fadd <8 x float> %20, splat (float f0xBF7FFFFF)
  %22 = tail call <8 x float> @llvm.maximum.v8f32(<8 x float> %21, <8 x float> splat (float f0xBF7FFFFF))
  %23 = fneg <8 x float> %22
  %24 = fmul <8 x float> %22, %23
  %25 = fadd <8 x float> %24, splat (float 1.000000e+00)
  %log_f32.i.i = fcmp ule <8 x float> %25, zeroinitializer
  %log_f323.i.i = fcmp une <8 x float> %25, zeroinitializer
  %log_f326.i.i = fcmp une <8 x float> %25, splat (float +inf)
  %.inv = fcmp ogt <8 x float> %25, splat (float f0x00800000)
  %26 = select <8 x i1> %.inv, <8 x float> %25, <8 x float> splat (float f0x00800000)
  %27 = bitcast <8 x float> %26 to <8 x i32>
  %28 = lshr <8 x i32> %27, splat (i32 23)
  %log_f3210.i.i = and <8 x i32> %27, splat (i32 -2139095041)
  %log_f3212.i.i = or disjoint <8 x i32> %log_f3210.i.i, splat (i32 1056964608)
  %log_f3213.i.i = bitcast <8 x i32> %log_f3212.i.i to <8 x float>
  %29 = add nsw <8 x i32> %28, splat (i32 -127)
  %30 = sitofp <8 x i32> %29 to <8 x float>
  %log_f3214.i.i = fadd <8 x float> %30, splat (float 1.000000e+00)
  %log_f3215.i.i = fcmp olt <8 x float> %log_f3213.i.i, splat (float f0x3F3504F3)
  %31 = select <8 x i1> %log_f3215.i.i, <8 x float> %log_f3213.i.i, <8 x float> zeroinitializer
  %32 = fadd <8 x float> %log_f3213.i.i, splat (float -1.000000e+00)
  %33 = select <8 x i1> %log_f3215.i.i, <8 x float> splat (float 1.000000e+00), <8 x float> zeroinitializer
  %34 = fsub <8 x float> %log_f3214.i.i, %33
  %log_f3223.i.i = fadd <8 x float> %32, %31
  %log_f3224.i.i = fmul <8 x float> %log_f3223.i.i, %log_f3223.i.i
  %log_f3225.i.i = fmul <8 x float> %log_f3224.i.i, %log_f3223.i.i
  %log_f3226.i.i = fmul <8 x float> %log_f3223.i.i, splat (float f0x3D9021BB)
  %log_f3227.i.i = fadd <8 x float> %log_f3226.i.i, splat (float f0xBDEBD1B8)
  %log_f3228.i.i = fmul <8 x float> %log_f3223.i.i, splat (float f0xBDFE5D4F)
  %log_f3229.i.i = fadd <8 x float> %log_f3228.i.i, splat (float f0x3E11E9BF)
  %log_f3230.i.i = fmul <8 x float> %log_f3223.i.i, splat (float f0x3E4CCEAC)
  %log_f3231.i.i = fadd <8 x float> %log_f3230.i.i, splat (float f0xBE7FFFFC)
  %log_f3232.i.i = fmul <8 x float> %log_f3227.i.i, %log_f3223.i.i
  %log_f3233.i.i = fadd <8 x float> %log_f3232.i.i, splat (float f0x3DEF251A)
  %log_f3234.i.i = fmul <8 x float> %log_f3229.i.i, %log_f3223.i.i
  %log_f3235.i.i = fadd <8 x float> %log_f3234.i.i, splat (float f0xBE2AAE50)
  %log_f3236.i.i = fmul <8 x float> %log_f3231.i.i, %log_f3223.i.i
  %log_f3237.i.i = fadd <8 x float> %log_f3236.i.i, splat (float f0x3EAAAAAA)
  %log_f3238.i.i = fmul <8 x float> %log_f3233.i.i, %log_f3225.i.i
  %log_f3239.i.i = fadd <8 x float> %log_f3235.i.i, %log_f3238.i.i
  %log_f3240.i.i = fmul <8 x float> %log_f3239.i.i, %log_f3225.i.i
  %log_f3241.i.i = fadd <8 x float> %log_f3237.i.i, %log_f3240.i.i
  %log_f3242.i.i = fmul <8 x float> %log_f3241.i.i, %log_f3225.i.i
  %log_f3243.i.i = fmul nnan <8 x float> %34, splat (float f0xB95E8083)
  %log_f3244.i.i = fmul <8 x float> %log_f3224.i.i, splat (float 5.000000e-01)
  %log_f3245.i.i = fadd <8 x float> %log_f3242.i.i, %log_f3243.i.i
  %35 = fsub <8 x float> %log_f3223.i.i, %log_f3244.i.i
  %log_f3246.i.i = fmul nnan <8 x float> %34, splat (float f0x3F318000)
  %log_f3247.i.i = fadd <8 x float> %35, %log_f3245.i.i
  %log_f3248.i.i = fadd <8 x float> %log_f3247.i.i, %log_f3246.i.i
  %log_f3252.i.i = select <8 x i1> %log_f326.i.i, <8 x i32> zeroinitializer, <8 x i32> splat (i32 2139095040)
  %log_f3255.i.i = select <8 x i1> %log_f323.i.i, <8 x i32> %log_f3252.i.i, <8 x i32> splat (i32 -8388608)
  %log_f3257.i.i = bitcast <8 x float> %log_f3248.i.i to <8 x i32>
  %log_f3259.i.i = select <8 x i1> %log_f32.i.i, <8 x i32> splat (i32 -1), <8 x i32> %log_f3257.i.i
  %log_f3263.i.i6.not = and <8 x i1> %log_f323.i.i, %log_f326.i.i
  %log_f3269.i.i = select <8 x i1> %log_f3263.i.i6.not, <8 x i32> %log_f3259.i.i, <8 x i32> zeroinitializer
  %log_f3272.i.i = or <8 x i32> %log_f3255.i.i, %log_f3269.i.i
  %log_f3273.i.i = bitcast <8 x i32> %log_f3272.i.i to <8 x float>
  %36 = fmul <8 x float> %24, %24
  %37 = fmul <8 x float> %24, zeroinitializer
  %38 = fadd <8 x float> %37, splat (float 1.000000e+00)
  %39 = fmul <8 x float> %38, %24
  %40 = fadd <8 x float> %39, splat (float f0x417101AD)
  %41 = fmul <8 x float> %40, %24
  %42 = fadd <8 x float> %41, splat (float f0x42A6185B)
  %43 = fmul <8 x float> %42, %24
  %44 = fadd <8 x float> %43, splat (float f0x435DC32D)
  %45 = fmul <8 x float> %44, %24
  %46 = fadd <8 x float> %45, splat (float f0x439A8CA3)
  %47 = fmul <8 x float> %46, %24
  %48 = fadd <8 x float> %47, splat (float f0x43586D8A)
  %49 = fmul <8 x float> %48, %24
  %50 = fadd <8 x float> %49, splat (float f0x42707982)
  %51 = fadd <8 x float> %37, splat (float 4.527000e-05)
  %52 = fmul <8 x float> %51, %24
  %53 = fadd <8 x float> %52, splat (float f0x3EFF40C5)
  %54 = fmul <8 x float> %53, %24
  %55 = fadd <8 x float> %54, splat (float f0x40D284FA)
  %56 = fmul <8 x float> %55, %24
  %57 = fadd <8 x float> %56, splat (float f0x41EF4B9C)
  %58 = fmul <8 x float> %57, %24
  %59 = fadd <8 x float> %58, splat (float f0x4273CC76)
  %60 = fmul <8 x float> %59, %24
  %61 = fadd <8 x float> %60, splat (float f0x426473AD)
  %62 = fmul <8 x float> %61, %24
  %63 = fadd <8 x float> %62, splat (float f0x41A05101)
  %64 = fdiv <8 x float> %63, %50
  %65 = fmul <8 x float> %24, %36
  %66 = fmul <8 x float> %65, %64
  %67 = fmul <8 x float> %36, splat (float -5.000000e-01)
  %68 = fadd <8 x float> %67, %66
  %69 = fadd <8 x float> %24, %68
  %70 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %24)
  %71 = fcmp olt <8 x float> %70, splat (float f0x3ED413CD)
  %72 = select <8 x i1> %71, <8 x float> %69, <8 x float> %log_f3273.i.i
  %73 = fneg <8 x float> %72
  %74 = fcmp ogt <8 x float> %72, splat (float -5.000000e+00)
  %75 = select <8 x i1> %74, <8 x float> splat (float f0x32F16588), <8 x float> splat (float f0xB951F09B)
  %76 = select <8 x i1> %74, <8 x float> splat (float f0x34B84B36), <8 x float> splat (float f0x38D3B56B)
  %77 = tail call <8 x float> @llvm.sqrt.v8f32(<8 x float> %73)
  %78 = fsub <8 x float> splat (float -2.500000e+00), %72
  %79 = fadd <8 x float> %77, splat (float -3.000000e+00)
  %80 = select <8 x i1> %74, <8 x float> %78, <8 x float> %79
  %81 = fmul <8 x float> %75, %80
  %82 = fadd <8 x float> %76, %81
  %83 = select <8 x i1> %74, <8 x float> splat (float f0xB66C7357), <8 x float> splat (float f0x3AB0DC72)
  %84 = fmul <8 x float> %80, %82
  %85 = fadd <8 x float> %83, %84
  %86 = select <8 x i1> %74, <8 x float> splat (float f0xB6935AC1), <8 x float> splat (float f0xBB70BDE7)
  %87 = fmul <8 x float> %80, %85
  %88 = fadd <8 x float> %86, %87
  %89 = select <8 x i1> %74, <8 x float> splat (float f0x396532DB), <8 x float> splat (float f0x3BBC127B)
  %90 = fmul <8 x float> %80, %88
  %91 = fadd <8 x float> %89, %90
  %92 = select <8 x i1> %74, <8 x float> splat (float f0xBAA45408), <8 x float> splat (float f0xBBF9C5D7)
  %93 = fmul <8 x float> %80, %91
  %94 = fadd <8 x float> %92, %93
  %95 = select <8 x i1> %74, <8 x float> splat (float f0xBB88E4EF), <8 x float> splat (float f0x3C1AA57E)
  %96 = fmul <8 x float> %80, %94
  %97 = fadd <8 x float> %95, %96
  %98 = select <8 x i1> %74, <8 x float> splat (float f0x3E7C8F63), <8 x float> splat (float f0x3F8036DB)
  %99 = fmul <8 x float> %80, %97
  %100 = fadd <8 x float> %98, %99
  %101 = select <8 x i1> %74, <8 x float> splat (float f0x3FC02E2F), <8 x float> splat (float f0x40354F7E)
  %102 = fmul <8 x float> %80, %100
  %103 = tail call <8 x float> @llvm.fabs.v8f32(<8 x float> %22)
  %104 = fadd <8 x float> %101, %102
  %105 = fcmp oeq <8 x float> %103, splat (float 1.000000e+00)
  %106 = select <8 x i1> %105, <8 x float> splat (float +inf), <8 x float> %104
  %107 = fmul <8 x float> %22, %106
  %108 = getelementptr inbounds nuw [4 x i8], ptr %4, i64 %12
  %wide.load4 = load <8 x float>, ptr %108, align 4, !invariant.load !8, !alias.scope !10, !noalias !21
  %109 = fmul <8 x float> %107, splat (float f0x3FB504F3)
  %110 = fadd <8 x float> %wide.load4, %109
  %111 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %12
  store <8 x float> %110, ptr %111, align 4, !alias.scope !17, !noalias !22
  %112 = add nuw nsw i64 %11, 1
  %exitcond2.not = icmp eq i64 %112, 8
  br i1 %exitcond2.not, label %multiply_add_fusion_wrapped.exit, label %vector.ph, !llvm.loop !23

multiply_add_fusion_wrapped.exit:                 ; preds = %vector.ph
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.maximum.v8f32(<8 x float>, <8 x float>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.fabs.v8f32(<8 x float>) #2

attributes #0 = { uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3, !4, !5}
!xla_cpu_memory_region_name = !{!6}
!llvm.ident = !{!7}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 3}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 0}
!4 = !{i32 7, !"uwtable", i32 2}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!7 = !{!"clang version 18.1.8"}
!8 = !{}
!9 = !{i64 256}
!10 = !{!11}
!11 = distinct !{!11, !12, !"multiply_add_fusion_wrapped: argument 0"}
!12 = distinct !{!12, !"multiply_add_fusion_wrapped"}
!13 = !{!14}
!14 = distinct !{!14, !12, !"multiply_add_fusion_wrapped: argument 1"}
!15 = !{!16}
!16 = distinct !{!16, !12, !"multiply_add_fusion_wrapped: argument 2"}
!17 = !{!18}
!18 = distinct !{!18, !12, !"multiply_add_fusion_wrapped: argument 3"}
!19 = !{!11, !16, !18}
!20 = !{!11, !14, !18}
!21 = !{!14, !16, !18}
!22 = !{!11, !14, !16}
!23 = distinct !{!23, !24}
!24 = !{!"llvm.loop.unroll.disable"}
